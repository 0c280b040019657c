export { type HttpOptions, type HttpServing, serveSpaceOverHttp } from './http/serve-http.js'
export type { Query, ServedSpace, SpaceReading } from './served-space.js'
export { type Serving, serveSpaceOverStdio } from './stdio.js'
