import { printable } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { toolEffects, valuePart } from '../../model/index.js'
import { ContentPart } from '../shared/content.js'
import { useSpace } from '../shared/use-space.js'

/** The tools of a participant, with their descriptions and what they take. */
export function Tools({ id }: { id: string }): VNode | null {
  const { session, isLive, can, act } = useSpace()
  const { tools } = session.present
  const known = tools.list(id)
  const mayAsk = can({ kind: Kind.mcpRequest, to: [id], payload: { method: 'tools/list' } })
  if (known.length === 0 && (tools.knows(id) || !mayAsk)) return null
  return (
    <section class="tools" aria-label={`Tools of ${id}`}>
      <h3>Tools</h3>
      {known.map(({ name, description, inputSchema, effect }) => (
        <details key={name}>
          <summary>
            <code class="tool">{printable(name)}</code> <span class="dim">{toolEffects[effect]}</span>
          </summary>
          {description !== '' && <p class="said">{printable(description)}</p>}
          <ContentPart part={valuePart(inputSchema ?? {})} isWhole={false} />
        </details>
      ))}
      {known.length === 0 && (
        <button
          type="button"
          class="link"
          disabled={!isLive}
          onClick={() => act(`${id} did not tell its tools`, () => session.askForTools(id))}
        >
          Ask {id} for its tools
        </button>
      )}
    </section>
  )
}
