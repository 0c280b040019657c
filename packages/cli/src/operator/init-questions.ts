import { isCancel, password, select, text } from '@clack/prompts'
import { brief } from '@meup/folds'
import { UsageError } from '../lib/exit.js'
import type { InputDescription } from './import/server-file.js'
import { localURL, type ProviderName, type TemplateName, templates } from './templates.js'

/** Questions of `meup init`. They are written to stderr, because stdout has the suggested commands. */
const output = process.stderr

/** Options with an explanation in each label: a hint is shown for the selected one only. */
function explainOptions<Name extends string>(
  options: Readonly<Record<Name, { readonly about?: string }>>,
): { value: Name; label: string }[] {
  const names = Object.keys(options) as Name[]
  const width = Math.max(...names.map(({ length }) => length))
  return names.map((value) => ({
    value,
    label: `${value.padEnd(width)}  ${options[value].about ?? ''}`.trimEnd(),
  }))
}

export const templateOptions = explainOptions<TemplateName>(templates)

export const askTemplate = async (): Promise<TemplateName> =>
  answer(await select({ message: 'What is the space for?', options: templateOptions, output }))

const providerOptions = explainOptions<ProviderName>({
  ...{ anthropic: {}, openai: {}, google: {} },
  'openai-compatible': { about: `any such server, for example on this machine: ${localURL}` },
})

export const askProvider = async (): Promise<ProviderName> =>
  answer(await select({ message: 'Where is the model?', options: providerOptions, output }))

/** A problem of the value that was asked for. Leaves out what names the setting, because the question does. */
export const describeWrongValue = (problem: UsageError | undefined): string | undefined =>
  problem?.code === 'invalid_names'
    ? String(problem.details.problems).replace(/^\w+: /, '')
    : problem?.message

/** Asks until the answer is valid. Enter accepts the proposed value. */
export const askText = async (
  message: string,
  proposed: string,
  findProblem: (value: string) => UsageError | undefined,
): Promise<string> =>
  answer(
    await text({
      message,
      placeholder: proposed,
      defaultValue: proposed,
      validate: (typed) => describeWrongValue(findProblem(typed?.trim() || proposed)),
      output,
    }),
  ).trim()

/** Asks for an input of an imported file. Its description is foreign text, so it is truncated and escaped. */
export async function askInput(
  variable: string,
  { description = variable, isPassword, default: proposed, options = [] }: InputDescription,
): Promise<string> {
  const message = `${brief(description, 200)} (${variable})`
  if (options.length > 0)
    return answer(
      await select({
        message,
        options: options.map((value) => ({ value, label: brief(value, 100) })),
        output,
      }),
    )
  if (isPassword) return answer(await password({ message, output }))
  return askText(message, proposed ?? '', () => undefined)
}

function answer<Value>(given: Value): Exclude<Value, symbol> {
  if (isCancel(given)) throw new UsageError('cancelled', {})
  return given as Exclude<Value, symbol>
}
