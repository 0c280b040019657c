import { expect } from 'vitest'
import type { FailureName } from '../../src/failure/failures.js'
import type { UsageCode } from '../../src/failure/usage.js'

/** Matches an error with this code, and with these details among others. */
export const refused = (code: UsageCode | FailureName, details: object = {}) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) })
