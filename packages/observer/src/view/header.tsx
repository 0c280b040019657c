import { listSpaces } from '@meup/agent-sdk/http'
import type { Detail } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PageSession } from '../connect/session.js'
import { saveToken } from '../connect/storage.js'
import { sizeText, writeRoute } from '../model/index.js'
import { useAlerts } from './decide/alerts.js'
import { usePending } from './decide/use-pending.js'
import { FindBox } from './find/find-box.js'
import { useNow } from './shared/hooks.js'
import { lazy } from './shared/lazy.js'
import { IconButton, Options } from './shared/parts.js'
import { useSpace } from './shared/use-space.js'

const AuditBadge = lazy(() => import('./audit/audit-badge.js').then(({ AuditBadge }) => AuditBadge))

interface HeaderProps {
  readonly session: PageSession
  readonly show: (detail: Detail) => void
  readonly leave: () => void
  readonly openSettings: () => void
  /** Whether the menu replaces the view, on small screens. */
  readonly isMenuOpen: boolean
  readonly openMenu: (isOpen: boolean) => void
  /** Whether the time bar is shown in the present. */
  readonly isTimeOpen: boolean
  readonly openTime: (isOpen: boolean) => void
}

export function Header({
  session,
  show,
  leave,
  openSettings,
  isMenuOpen,
  openMenu,
  isTimeOpen,
  openTime,
}: HeaderProps): VNode {
  const me = session.welcome?.you.id
  return (
    <header class="top">
      <SpaceSwitch session={session} />
      <Connection session={session} />
      <FindBox />
      <InboxButton session={session} />
      <button
        type="button"
        class="menu-button"
        aria-expanded={isMenuOpen}
        aria-label="Participants, filters and settings"
        onClick={() => openMenu(!isMenuOpen)}
      >
        {isMenuOpen ? '✕' : '☰'}
      </button>
      <div class="top-more">
        <Hidden session={session} />
        <AuditBadge check={session.logCheck} space={session.place.space} />
        <label class="detail">
          <span class="dim">Thoughts</span>
          <select
            value={session.detail}
            disabled={session.client === undefined}
            onChange={(event) => show(event.currentTarget.value as Detail)}
          >
            <option value="full">all</option>
            <option value="summary">how many</option>
            <option value="boundaries">starts and ends</option>
            <option value="none">none</option>
          </select>
        </label>
        <IconButton
          sign="clock"
          label={isTimeOpen ? 'Close the time bar' : 'Look back in time'}
          onClick={() => {
            if (isTimeOpen) session.time.toPresent()
            openTime(!isTimeOpen)
            openMenu(false)
          }}
        />
        <IconButton sign="settings" label="Settings" onClick={openSettings} />
        <button type="button" class="quiet" onClick={leave}>
          {me !== undefined && `${me} · `}sign out
        </button>
      </div>
    </header>
  )
}

/** Button with the number of pending decisions, which opens the inbox. */
function InboxButton({ session }: { session: PageSession }): VNode {
  const space = useSpace()
  const { panel, showPanel } = space
  const { model, welcome } = session
  const { mine } = usePending()
  const waiting = mine.length + model.elicitations(welcome?.you.id).length
  useAlerts(space, waiting, mine)
  const isOpen = panel?.at === 'inbox'
  return (
    <button
      type="button"
      class={`inbox-button ${waiting > 0 ? 'pending' : ''}`}
      aria-expanded={isOpen}
      onClick={() => showPanel(isOpen ? undefined : { at: 'inbox' })}
    >
      <span class="sign" aria-hidden="true">
        {waiting > 0 ? '⚠' : '▣'}
      </span>{' '}
      {waiting > 0 ? (
        <>
          {waiting} <span class="word">pending</span>
        </>
      ) : (
        <span class="word">Inbox</span>
      )}
    </button>
  )
}

function Connection({ session }: { session: PageSession }): VNode {
  const { stage, present } = session
  const now = useNow(true)
  if (stage.at === 'live') {
    const rate = present.live.rate(now)
    return (
      <span class="connection live">
        <span aria-hidden="true">●</span> live{' '}
        <span class="rate">{rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s</span>
      </span>
    )
  }
  if (stage.at === 'connecting') return <span class="connection">○ connecting…</span>
  if (stage.at === 'ended') return <span class="connection bad">✕ closed</span>
  if (stage.at === 'catching-up') {
    return (
      <span class="connection warn" title={`up to ${stage.to}`}>
        ◌ catching up…
      </span>
    )
  }
  const seconds = Math.max(Math.ceil((stage.until - now) / 1000), 0)
  return (
    <span class="connection warn" title={stage.reason}>
      ○ reconnecting{seconds > 0 ? ` in ${seconds} s` : '…'}
    </span>
  )
}

/** Number of envelopes that the gateway filters out for this reader. */
function Hidden({ session }: { session: PageSession }): VNode | null {
  const { envelopes, bytes } = session.welcome?.subscription.suppressed ?? { envelopes: 0, bytes: 0 }
  if (envelopes === 0) return null
  return (
    <span class="dim" title="Envelopes that the gateway kept back from this connection">
      hidden {envelopes.toLocaleString('en')} · {sizeText(bytes)} saved
    </span>
  )
}

/** Name of the space, with a menu of the other spaces that the token opens. */
function SpaceSwitch({ session }: { session: PageSession }): VNode {
  const { place, stage } = session
  const [spaces, setSpaces] = useState<readonly string[]>([])
  const isLive = stage.at === 'live'
  useEffect(() => {
    if (!isLive) return
    listSpaces(place.url, place.token).then(setSpaces, (error: unknown) =>
      console.info('the spaces of this token are not known:', error),
    )
  }, [place, isLive])
  if (spaces.length < 2) return <h1 class="space">{place.space}</h1>
  return (
    <>
      <h1 class="unseen">{place.space}</h1>
      <select
        class="space"
        aria-label="Space"
        value={place.space}
        onChange={(event) => {
          const space = event.currentTarget.value
          saveToken({ ...place, space })
          location.hash = writeRoute({ space })
        }}
      >
        <Options of={spaces.map((space) => [space, space])} />
      </select>
    </>
  )
}
