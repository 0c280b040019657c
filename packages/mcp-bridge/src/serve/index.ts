export { type HttpOptions, type HttpServing, serveSpaceOverHttp } from './http.js'
export type { ServedSpace } from './service.js'
export { type Serving, serveSpaceOverStdio } from './stdio.js'
