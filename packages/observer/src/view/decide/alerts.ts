import type { ProposalView } from '@meup/folds'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../../connect/session.js'
import { nameText } from '../../model/index.js'

const icon = (): HTMLLinkElement | null => document.querySelector('link[rel=icon]')
const ownIcon = icon()?.getAttribute('href') ?? ''

/** Shows in the title, in the icon and, where that was asked for, in notifications how much waits. */
export function useAlerts(session: Session, waiting: number, mine: readonly ProposalView[]): void {
  const { space } = session.place
  useEffect(() => {
    document.title = waiting === 0 ? space : `(${waiting}) ${space}`
    icon()?.setAttribute('href', waiting === 0 ? ownIcon : '/icon-waiting.svg')
  }, [space, waiting])
  const before = useRef(waiting)
  useEffect(() => {
    const isMore = waiting > before.current
    before.current = waiting
    if (!isMore || !document.hidden || getPermission() !== 'granted') return
    const latest = mine.at(-1)
    const elicitation = session.model.elicitations(session.welcome?.you.id).at(-1)
    const proposed = latest === undefined ? '' : describeProposal(session, latest)
    const body = elicitation === undefined ? proposed : `${elicitation.from} asks you something`
    try {
      new Notification(`${space}: ${waiting} to decide`, { body, tag: `meup-${space}` })
    } catch (error) {
      console.info('no notification was shown:', error) // Some phones have them for installed pages alone.
    }
  }, [waiting])
}

/** `coder proposes delete_file. Its server says that the tool may delete or overwrite.` */
function describeProposal({ model }: Session, proposal: ProposalView): string {
  const { risk } = model.judge(proposal)
  const warning = risk.level === 'destructive' ? `Destructive: ${risk.reason}` : risk.reason
  return `${proposal.source.from} proposes ${nameText(proposal.tool)}. ${warning}`
}

const getPermission = (): NotificationPermission | 'unknown' =>
  'Notification' in window ? Notification.permission : 'unknown'

/** What the browser lets this page show, and what asks for it. */
export function useNotifications(): {
  readonly state: NotificationPermission | 'unknown'
  readonly ask: () => void
} {
  const [state, setState] = useState(getPermission)
  return { state, ask: () => void Notification.requestPermission().then(setState) }
}
