import { everything, type Filter } from './filter.js'

/** What a reader has chosen to see, now and at any moment that they look at. */
export class Lens {
  /** Those whose thoughts are not shown. */
  readonly muted = new Set<string>()
  filter: Filter = everything
  /** What is searched for. */
  query = ''
}
