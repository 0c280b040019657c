import type { StandardSchema } from '@meup/agent-sdk'

export type FakeSchema<Output> = StandardSchema<Output>

type Checked<Output> = Awaited<ReturnType<StandardSchema<Output>['~standard']['validate']>>

/** The least that a library's schema is made of: a check, and perhaps a description of itself. */
export const fakeSchema = <Output>(
  validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>,
  describe?: (options: { target: string }) => Record<string, unknown>,
): FakeSchema<Output> => ({
  '~standard': {
    version: 1,
    validate,
    ...(describe && { jsonSchema: { input: describe } }),
  },
})
