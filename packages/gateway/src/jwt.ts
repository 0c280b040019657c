export { type JwtAuthenticator, type JwtSettings, jwtAuthenticator } from './adapters/jwt-authenticator.js'
