"""Coming into the console by OpenID Connect: an issuer says who comes. It takes the extra `oidc`."""
