import { createInterface, type Interface } from 'node:readline/promises'
import { problemWith } from './names.js'
import type { Names } from './space-yaml.js'

const questions: readonly (readonly [name: keyof Names, question: string])[] = [
  ['space', 'Name of the space'],
  ['person', 'Your name in it'],
  ['agent', 'Name of your first agent'],
  ['listen', 'Where it listens'],
]

/** Asks for each of these, until it is right; Enter takes what is proposed. */
export async function askFor(proposed: Names): Promise<Names> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    let names = proposed
    for (const [name, question] of questions) names = await ask(terminal, names, name, question)
    return names
  } finally {
    terminal.close()
  }
}

async function ask(terminal: Interface, names: Names, name: keyof Names, question: string): Promise<Names> {
  for (;;) {
    const typed = (await terminal.question(`${question} (${names[name]}): `)).trim()
    const answered = typed === '' ? names : { ...names, [name]: typed }
    const problem = problemWith(answered)
    if (problem === undefined) return answered
    process.stderr.write(`✗ ${problem}\n`)
  }
}
