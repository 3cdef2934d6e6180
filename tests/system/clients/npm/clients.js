// Drives oauth4webapi and openid-client against a service and prints what they found as JSON.
// usage: node clients.js ISSUER OPAQUE_ID OPAQUE_SECRET JWT_ID JWT_SECRET
import * as jose from "jose";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";

const [issuer, opaqueId, opaqueSecret, jwtId, jwtSecret] = process.argv.slice(2);
const insecure = { [oauth.allowInsecureRequests]: true };
const found = {};

async function discover(algorithm) {
  const answer = await oauth.discoveryRequest(new URL(issuer), { algorithm, ...insecure });
  return oauth.processDiscoveryResponse(new URL(issuer), answer);
}

async function ask(server, id, authentication, parameters = {}) {
  const answer = await oauth.clientCredentialsGrantRequest(
    server, { client_id: id }, authentication, new URLSearchParams(parameters), insecure);
  return oauth.processClientCredentialsResponse(server, { client_id: id }, answer);
}

async function failure(promise) {
  try {
    await promise;
    return "none";
  } catch (error) {
    return `${error.constructor.name} ${error.status} ${error.error ?? error.cause?.[0]?.scheme}`;
  }
}

async function search(token) {
  const answer = await oauth.protectedResourceRequest(
    token, "GET", new URL(`${issuer}/api/v1/photos`), undefined, undefined, insecure);
  return answer.status;
}

const server = await discover("oauth2");
found.same = (await discover("oidc")).token_endpoint === server.token_endpoint;

const basic = await ask(server, opaqueId, oauth.ClientSecretBasic(opaqueSecret), { scope: "photos" });
found.basic = [basic.token_type, basic.expires_in, basic.scope];
const post = await ask(server, opaqueId, oauth.ClientSecretPost(opaqueSecret));
found.post = [post.token_type, post.expires_in, post.scope];
found.search = await search(post.access_token);

found.wrongSecret = await failure(ask(server, opaqueId, oauth.ClientSecretBasic("wrong secret: é%+&")));
found.wideScope = await failure(ask(server, opaqueId, oauth.ClientSecretPost(opaqueSecret), { scope: "users" }));
found.badToken = await failure(search("not-a-token"));

const resource = new URL(issuer);
const resourceServer = await oauth.processResourceDiscoveryResponse(
  resource, await oauth.resourceDiscoveryRequest(resource, insecure));
found.resource = resourceServer.authorization_servers;

const jwt = await ask(server, jwtId, oauth.ClientSecretPost(jwtSecret), { scope: "photos" });
const shown = new Request(`${issuer}/api/v1/photos`, { headers: { authorization: `Bearer ${jwt.access_token}` } });
const claims = await oauth.validateJwtAccessToken(server, shown, issuer, insecure);
found.jwt = [claims.iss, claims.aud, claims.client_id, claims.scope];
found.jwtSearch = await search(jwt.access_token);

const keys = jose.createRemoteJWKSet(new URL(server.jwks_uri));
found.signed = (await jose.jwtVerify(jwt.access_token, keys, { issuer })).payload.client_id;

const config = await client.discovery(new URL(issuer), opaqueId, opaqueSecret, client.ClientSecretBasic(opaqueSecret), {
  execute: [client.allowInsecureRequests],
  algorithm: "oauth2",
});
const token = await client.clientCredentialsGrant(config, { scope: "photos" });
found.openid = [token.token_type, token.expires_in, token.scope];
found.active = (await client.tokenIntrospection(config, token.access_token)).active;
const url = new URL(`${issuer}/api/v1/photos`);
found.fetched = (await client.fetchProtectedResource(config, token.access_token, url, "GET")).status;
await client.tokenRevocation(config, token.access_token);
found.inactive = (await client.tokenIntrospection(config, token.access_token)).active;
found.revoked = await failure(client.fetchProtectedResource(config, token.access_token, url, "GET"));

console.log(JSON.stringify(found));
