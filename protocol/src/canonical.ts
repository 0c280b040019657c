/**
 * The one text of all JSON texts that say the same [MEUP-4.17]: members by their keys, strings by value, no white space.
 * A number stays the token that was sent, so that 1.0 is not 1: nobody knows how its reader would round it. Of an
 * outermost object the member `omitted` is left out. The bytes must be well-formed, as `readObject` finds out.
 */
export function canonicalJson(json: Uint8Array, omitted?: string): string {
  const text = new TextDecoder().decode(json)
  // Strings are unrolled, so that long ones need no deep stack.
  const tokens = /[ \t\n\r]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^ \t\n\r{}[\]:,"]+)/y
  const next = (): string => {
    const [, token] = tokens.exec(text) ?? []
    if (token === undefined) throw new SyntaxError('this is not well-formed JSON')
    return token
  }

  const value = (token: string, without?: string): string => {
    if (token === '{') return object(without)
    if (token === '[') return array()
    return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token
  }
  const object = (without: string | undefined): string => {
    const members: { key: string; text: string }[] = []
    for (let token = next(); token !== '}'; token = next()) {
      const key: string = JSON.parse(token === ',' ? next() : token)
      next() // The colon.
      const member = { key, text: `${JSON.stringify(key)}:${value(next())}` }
      if (key !== without) members.push(member)
    }
    members.sort((a, b) => (a.key < b.key ? -1 : 1))
    return `{${members.map((member) => member.text).join(',')}}`
  }
  const array = (): string => {
    const elements: string[] = []
    for (let token = next(); token !== ']'; token = next()) {
      elements.push(value(token === ',' ? next() : token))
    }
    return `[${elements.join(',')}]`
  }

  return value(next(), omitted)
}
