import { type TestContext, test } from 'vitest'
import type { RequirementId } from './requirements.js'

type Body = (context: TestContext) => unknown

interface Options {
  /** Milliseconds after which the test fails. */
  readonly timeout?: number
}

/**
 * Registers a test that shows one or more requirements to hold, titled `[M17] duplicate id is refused`. The ids must be written
 * out at the call: the coverage test reads them from the source.
 */
export function verifies(
  id: RequirementId | readonly RequirementId[],
  name: string,
  body: Body,
  options: Options = {},
): void {
  const labels = [id].flat().map((one) => `[${one}]`)
  test(`${labels.join('')} ${name}`, options, body)
}

/**
 * Wraps tests that need something outside of the repository. `find` returns what they need, or `undefined` or `false` if this
 * machine does not have it. In that case the test is skipped with a message, or fails if MEUP_REQUIRE_ALL=1.
 *
 *     const withNats = needing('a NATS server named by NATS_URL', () => process.env.NATS_URL)
 *     test('two gateways agree', withNats(async (url) => …))
 */
export function needing<T>(what: string, find: () => T | undefined | false) {
  return (body: (found: T, context: TestContext) => unknown): Body =>
    (context) => {
      const found = find()
      if (found !== undefined && found !== false) return body(found, context)
      if (process.env.MEUP_REQUIRE_ALL === '1') {
        throw new Error(`needs ${what}, and MEUP_REQUIRE_ALL=1 lets nothing be skipped`)
      }
      return context.skip(`needs ${what}`)
    }
}
