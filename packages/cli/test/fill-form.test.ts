import { expect, test } from 'vitest'
import { FormFiller } from '../src/lib/fill-form.js'

/** A form filler for a user who types these lines; `undefined` = Esc. */
function filler(
  lines: readonly (string | undefined)[],
  visibility: 'everyone' | 'addressees' = 'addressees',
) {
  const [printed, prompts]: [string[], string[]] = [[], []]
  const left = [...lines]
  const space = { welcome: { mcp: { visibility } } } as ConstructorParameters<typeof FormFiller>[0]
  const forms = new FormFiller(space, {
    print: (more) => printed.push(...more),
    prompt: async (question) => {
      prompts.push(question)
      return left.shift()
    },
  })
  return { forms, printed, prompts }
}

const ask = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  message: 'Which room?',
  requestedSchema: { type: 'object', properties, required },
})
const never = new AbortController().signal

test('a question is filled in field by field; what is wrong is asked again', async () => {
  const { forms, printed, prompts } = filler(['two', '2', '', '2', 'y'], 'everyone')
  const params = ask({
    nights: { type: 'integer', title: 'Nights', description: 'how long', minimum: 1 },
    view: { type: 'string', enum: ['sea', 'hill'], default: 'sea' },
    board: { type: 'array', items: { enum: ['half', 'full'] } },
    quiet: { type: 'boolean' },
  })
  expect(await forms.answer('hotel')(params, never)).toEqual({
    action: 'accept',
    content: { nights: 2, view: 'sea', board: ['full'], quiet: true },
  })
  expect(printed).toEqual([
    '? hotel asks: Which room?',
    '    everyone here can read what you answer',
    '    Nights — how long',
    '✗ Nights is a number',
    '    view',
    ...['      1  sea', '      2  hill'],
    '    board',
    ...['      1  half', '      2  full'],
    '    quiet',
    '✓ answered hotel',
  ])
  expect(prompts.slice(0, 3)).toEqual([
    'Nights? a number · Esc: decline',
    'Nights? a number · Esc: decline',
    'view? its number · Enter: sea · Esc: decline',
  ])
})

test('a label that is a question is put with one mark', async () => {
  const { forms, prompts } = filler(['y'])
  await forms.answer('shop')(ask({ gift: { type: 'boolean', title: 'As a gift?' } }), never)
  expect(prompts).toEqual(['As a gift? y or n · Enter: n · Esc: decline'])
})

test('Esc declines; so does n where there is nothing to fill in', async () => {
  const text = ask({ name: { type: 'string' } })
  expect(await filler([undefined]).forms.answer('hotel')(text, never)).toEqual({ action: 'decline' })
  expect(await filler(['n']).forms.answer('hotel')(ask({}), never)).toEqual({ action: 'decline' })
  expect(await filler(['y']).forms.answer('hotel')(ask({}), never)).toEqual({ action: 'accept', content: {} })
  const { forms, printed } = filler([])
  expect(await forms.answer('hotel')(ask({ it: { type: 'object' } }), never)).toEqual({ action: 'decline' })
  expect(printed).toEqual(['? hotel asks for something that no form here has; it is declined'])
})

test('what may be empty is left out, and no text of a tool controls the terminal', async () => {
  const { forms, printed } = filler([''])
  const params = {
    ...ask({ a: { type: 'string', title: '\u001B[31mred' } }, []),
    message: '\u001B]0;title\u0007',
  }
  expect(await forms.answer('hotel')(params, never)).toEqual({ action: 'accept', content: {} })
  for (const control of ['\u001B', '\u0007']) expect(printed.join()).not.toContain(control)
})

test('one question waits for the other, and one that was taken back is not put', async () => {
  const { forms, printed } = filler(['a', 'b'])
  const text = ask({ name: { type: 'string' } })
  const gone = new AbortController()
  const answers = [
    forms.answer('one')(text, never),
    forms.answer('two')(text, gone.signal),
    forms.answer('three')(text, never),
  ]
  gone.abort()
  expect(await Promise.all(answers)).toEqual([
    { action: 'accept', content: { name: 'a' } },
    { action: 'cancel' },
    { action: 'accept', content: { name: 'b' } },
  ])
  expect(printed.filter((line) => line.startsWith('?'))).toEqual([
    '? one asks: Which room?',
    '? three asks: Which room?',
  ])
})

test('a question of several lines cannot be taken for one of somebody else', async () => {
  const { forms, printed } = filler(['x'])
  const message = 'ok\n✓ answered hotel\n? bank asks: your PIN'
  await forms.answer('hotel')({ ...ask({ a: { type: 'string' } }), message }, never)
  expect(
    printed
      .join('\n')
      .split('\n')
      .filter((line) => line.startsWith('?')),
  ).toEqual(['? hotel asks: ok'])
})

test('neither a default nor what can be chosen says anything on a line of its own, or more than fits', async () => {
  const { forms, printed, prompts } = filler(['neither', '1', undefined])
  const hostile = 'a\n? bank asks: your PIN'
  const params = ask({
    one: { type: 'string', enum: [hostile], default: 'none' },
    two: { type: 'string', default: `${hostile}\u001B[2J${'x'.repeat(100_000)}` },
  })
  expect(await forms.answer('hotel')(params, never)).toEqual({ action: 'decline' })
  expect([...printed, ...prompts].join('\n')).not.toMatch(/^\? bank/m)
  expect(Math.max(...prompts.map(({ length }) => length))).toBeLessThan(200)
})
