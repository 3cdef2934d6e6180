"""gunicorn behind deploy/nginx.conf: `gunicorn --config deploy/gunicorn.conf.py 'photosvc.app:create_app()'`."""

bind = "127.0.0.1:8080"
workers = 2
# Slow clients hold connections, not threads.
worker_class = "photosvc.serving.Worker"
# Longer than nginx keeps idle connections to the service (60 seconds): it could send a request on one that has just
# ended, and answers 502 if the request may not be repeated.
keepalive = 75
# A download or an archive occupies a thread for as long as it takes.
threads = 16
# For those who turn on the access log: without addresses, because links contain tokens, and without the user name of
# WebDAV, into which people type passwords. nginx logs addresses masked.
access_log_format = '%(h)s %(t)s "%(m)s" %(s)s %(B)s %(M)s ms'
# Searches may have long queries.
limit_request_line = 8190
