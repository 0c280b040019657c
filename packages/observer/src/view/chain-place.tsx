import type { VNode } from 'preact'
import { useDesk } from './desk.js'

/** Where an envelope stands in the chain, as far as this page has computed it. */
export function ChainPlace({ seq }: { seq: number | undefined }): VNode | null {
  const { session } = useDesk()
  const { audit } = session
  if (seq === undefined) return null
  const isWrong = audit.state.at === 'broken' && seq >= (audit.state.seq ?? 0)
  const isChecked = audit.hashOf(seq) !== undefined
  const links = [
    ['previous hash', seq - 1],
    ['hash', seq],
    ['next hash', seq + 1],
  ] as const
  return (
    <>
      <dt>chain</dt>
      <dd class={isWrong ? 'problem' : ''}>
        {isWrong ? '✗ does not match' : isChecked ? '✓ checked here' : '○ not checked yet'}
      </dd>
      {links.map(([name, at]) => {
        const hash = isChecked ? audit.hashOf(at) : undefined
        if (hash === undefined) return null
        return [
          <dt key={name}>{name}</dt>,
          <dd key={`${name}:`}>
            <code>{hash}</code>
          </dd>,
        ]
      })}
    </>
  )
}
