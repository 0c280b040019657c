import type { StandardSchema } from '@meup/agent-sdk'

export type FakeSchema<Output> = StandardSchema<Output>

type Checked<Output> = Awaited<ReturnType<StandardSchema<Output>['~standard']['validate']>>

/** A minimal Standard Schema: `validate` checks a value, `describe` generates JSON Schema; `null` = it cannot. */
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
