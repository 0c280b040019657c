import { type Dial, dialBrowser } from '@meup/agent-sdk/watch'
import { refusalOf } from './http.js'
import type { Place } from './place.js'

/** Dials as browsers do, which are not told why there is no socket; then the gateway is asked over HTTP. */
export const dialAt =
  (place: Place): Dial =>
  async (request, events) => {
    try {
      return await dialBrowser(request, events)
    } catch (error) {
      throw (await refusalOf(place)) ?? error
    }
  }
