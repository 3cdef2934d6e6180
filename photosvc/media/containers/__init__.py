"""Where each picture format keeps its metadata; read without decoding a pixel, so that damaged pictures keep theirs."""
