import type * as engine from 're2js'

type Loaded = Pick<typeof engine, 'RE2Set'>

let loaded: Loaded | undefined

/** In the built page this module stands for `re2js`, as far as the page uses it. */
export const RE2Set = new Proxy(class {} as Loaded['RE2Set'], {
  get: (_, name) => Reflect.get(present().RE2Set, name),
  construct: (_, given) => Reflect.construct(present().RE2Set, given),
})

/** Whether a capability may hold one: a text that begins with `re:` or `/`, perhaps negated [MEUP-4.3]. */
const mayHoldOne = (capabilities: readonly unknown[]): boolean =>
  /"!?(?:re:|\/)/.test(JSON.stringify(capabilities))

/** Whether these capabilities can be compiled now. */
export const isReady = (capabilities: readonly unknown[]): boolean =>
  loaded !== undefined || !mayHoldOne(capabilities)

/** Makes them ready. Rejects when the gateway does not give the file. */
export async function makeReady(capabilities: readonly unknown[]): Promise<void> {
  if (!isReady(capabilities)) loaded = await import('re2js')
}

function present(): Loaded {
  if (loaded === undefined) throw new Error('regular expressions are not loaded yet: call makeReady() first')
  return loaded
}
