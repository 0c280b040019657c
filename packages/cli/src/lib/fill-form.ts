import { createInterface } from 'node:readline/promises'
import type { SpaceClient } from '@meup/agent-sdk'
import type { ElicitResult, OnElicitation } from '@meup/agent-sdk/internal'
import {
  brief,
  type Filled,
  type FormField,
  keepOffMargin,
  onOneLine,
  printable,
  readFilled,
  readForm,
} from '@meup/folds'
import { furtherLine, printNotice } from './output.js'

/** Shows lines and asks questions. */
export interface Prompter {
  print(lines: readonly string[]): void
  /** Resolves to `undefined` if the user declines or the signal is aborted. */
  prompt(question: string, signal: AbortSignal): Promise<string | undefined>
}

/** Answers elicitations by asking the user, one form at a time, field by field. */
export class FormFiller {
  readonly #prompter: Prompter
  readonly #space: Pick<SpaceClient, 'welcome'>
  #last: Promise<unknown> = Promise.resolve()

  constructor(space: Pick<SpaceClient, 'welcome'>, prompter: Prompter) {
    this.#space = space
    this.#prompter = prompter
  }

  /** A handler for elicitations of `who`. */
  answer(who: string): OnElicitation {
    return (params, signal) => {
      const filled = this.#last.then(() => (signal.aborted ? cancelled : this.#fill(who, params, signal)))
      this.#last = filled.catch(() => {})
      return filled
    }
  }

  async #fill(
    who: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    const form = readForm(params)
    const print = (...lines: readonly string[]): void => this.#prompter.print(lines.map(printable))
    if (form === undefined) {
      print(`? ${who} asks for something that no form here has; it is declined`)
      return declined
    }
    const { message, fields } = form
    const isPublic = this.#space.welcome.mcp.visibility === 'everyone'
    // Indents further lines: at the margin they could look like another participant's.
    const asked = keepOffMargin(printable(message), furtherLine)
    print(`? ${who} asks: ${asked}`, ...(isPublic ? ['    everyone here can read what you answer'] : []))
    const content: Record<string, unknown> = {}
    for (const field of fields.length > 0 ? fields : [confirmation]) {
      const value = await this.#fillField(field, signal, print)
      if (signal.aborted) {
        print(`… ${who} waits no more for an answer`)
        return cancelled
      }
      if (value === declined) return declined
      if (field !== confirmation && value !== undefined) content[field.name] = value
      if (field === confirmation && value === false) return declined
    }
    print(`✓ answered ${who}`)
    return { action: 'accept', content }
  }

  /** Asks until the value is valid. `undefined` = left empty, `declined` = the user declines the form. */
  async #fillField(
    field: FormField,
    signal: AbortSignal,
    print: (...lines: readonly string[]) => void,
  ): Promise<unknown> {
    const { label, description, options } = field
    print(`    ${onOneLine(label)}${description === '' ? '' : ` — ${onOneLine(description)}`}`)
    options.forEach(({ label }, at) => void print(`      ${at + 1}  ${onOneLine(label)}`))
    for (;;) {
      const line = await this.#prompter.prompt(
        `${onOneLine(label).replace(/[?:]$/, '')}?${hint(field)} · Esc: decline`,
        signal,
      )
      if (line === undefined) return declined
      const result = readFilled(field, fromLine(field, line.trim()))
      if (!('problem' in result)) return result.value
      print(`✗ ${onOneLine(label)} ${result.problem}`)
    }
  }
}

const declined: ElicitResult = { action: 'decline' }
const cancelled: ElicitResult = { action: 'cancel' }

/** The field of a form without fields: a yes or no. */
const confirmation: FormField = {
  ...{ name: '', label: 'Go on', description: '', isRequired: true, type: 'boolean', format: undefined },
  ...{ options: [], initial: '', min: 0, max: 0 },
}

/** Parses an answer: empty = the default; a number = the choice at that position. */
function fromLine({ type, initial, options }: FormField, line: string): Filled {
  if (line === '') return initial
  if (type === 'choice') return options[Number(line) - 1]?.value ?? line
  if (type !== 'choices') return line
  return line.split(/[\s,]+/).map((word) => options[Number(word) - 1]?.value ?? word)
}

/** Maximum characters of a default in a prompt. */
const maxDefaultChars = 80

function hint({ type, initial, isRequired, format }: FormField): string {
  const what = {
    boolean: ' y or n',
    choice: ' its number',
    choices: ' numbers, with commas',
    number: ' a number',
    integer: ' a number',
  }
  const kind =
    format === undefined ? (Object.hasOwn(what, type) ? what[type as keyof typeof what] : '') : ` ${format}`
  const usual = typeof initial === 'boolean' ? (initial ? 'y' : 'n') : brief(String(initial), maxDefaultChars)
  const enter = usual !== '' ? ` · Enter: ${usual}` : isRequired ? '' : ' · Enter: nothing'
  return `${kind}${enter}`
}

/** Handler for commands that print a result: asks at the terminal; `undefined` without one. */
export function promptForms(space: SpaceClient, who: string): OnElicitation | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const filler = new FormFiller(space, {
    print: (lines) => lines.forEach(printNotice),
    async prompt(question, signal) {
      const terminal = createInterface({ input: process.stdin, output: process.stderr })
      const left = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
      terminal.once('SIGINT', () => process.emit('SIGINT'))
      const asked = printable(question.replace(/Esc(?=: decline$)/, 'Ctrl+D'))
      const answered = terminal.question(`${asked} `, { signal }).catch(() => undefined)
      return Promise.race([answered, left]).finally(() => terminal.close())
    },
  })
  return filler.answer(who)
}
