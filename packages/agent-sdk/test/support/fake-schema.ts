import type { StandardSchema } from '@meup/agent-sdk'

export type FakeSchema<Output> = StandardSchema<Output>

type Checked<Output> = Awaited<ReturnType<StandardSchema<Output>['~standard']['validate']>>

/** The least that a library's schema is made of: a check, and a description of itself; `null`: it has none. */
export const fakeSchema = <Output>(
  validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>,
  describe: null | ((options: { target: string }) => Record<string, unknown>) = () => ({ type: 'object' }),
  vendor = 'fake',
): FakeSchema<Output> => ({
  '~standard': {
    version: 1,
    vendor,
    validate,
    ...(describe && { jsonSchema: { input: describe } }),
  },
})
