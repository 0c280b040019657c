export { type JwtAuthenticator, type JwtSettings, jwtAuthenticator } from './host/auth/jwt-authenticator.js'
