/** Where the resources of a space are. */
export interface Uris {
  /** What all of them begin with. */
  readonly base: string
  readonly transcript: string
  readonly contexts: string
  context(path: string): string
  readonly audit: string
  auditOf(agent: string, turn: number): string
  /** Of the latest turn that has ended, or of a numbered one. */
  reasoning(agent: string, turn?: number): string
  /** As RFC 6570 writes them. */
  readonly templates: Readonly<Record<'context' | 'audit' | 'latest' | 'turn', string>>
}

export function urisOf(space: string): Uris {
  const base = `meup://${space}/`
  return {
    base,
    transcript: `${base}transcript`,
    contexts: `${base}contexts`,
    context: (path) => `${base}contexts/${path}`,
    audit: `${base}audit`,
    auditOf: (agent, turn) => `${base}audit/${agent}/${turn}`,
    reasoning: (agent, turn) => `${base}reasoning/${agent}${turn === undefined ? '' : `/${turn}`}`,
    templates: {
      context: `${base}contexts/{+path}`,
      audit: `${base}audit/{agent}/{turn}`,
      latest: `${base}reasoning/{agent}`,
      turn: `${base}reasoning/{agent}/{turn}`,
    },
  }
}
