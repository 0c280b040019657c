import { ToolError } from '@meup/agent-sdk/watch'
import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatError } from '../connect/errors.js'
import type { Detail, Session } from '../connect/session.js'
import { isFiltering, type Row, type RowList, readRoute } from '../model/index.js'
import { Inspector } from './audit/inspector.js'
import { MessageBox } from './conversation/message-box.js'
import { Filters, HiddenList } from './filters/filters.js'
import { SearchBar } from './filters/search-bar.js'
import { Header } from './header.js'
import { createKeymap, Help, type Keymap, listenToKeys } from './keymap.js'
import { People } from './participants/people.js'
import { PersonPanel } from './participants/person.js'
import { Scrubber } from './scrubber.js'
import { updateAddress, useCatchingUp, useScrollPosition, useStored } from './shared/hooks.js'
import { type SpaceActions, SpaceProvider, useViewFilter } from './shared/use-space.js'
import type { RowsHandle } from './shared/virtual-rows.js'
import { Announcements, StatusLine } from './status-line.js'
import { panelId, tabId, useView, ViewTabs, views } from './view-tabs.js'

interface SpacePageProps {
  readonly session: Session
  readonly theme: string
  readonly setTheme: (theme: string) => void
  readonly leave: () => void
  /** Seq of the envelope that the address names. */
  readonly linked: number | undefined
  /** Seq of the moment that it names. */
  readonly moment: number | undefined
  readonly redraw: () => void
}

/** Whether there are only a few events, and no messages or reasoning. */
function isQuiet(list: RowList): boolean {
  const isEvent = (row: Row): boolean => row.type === 'said' && row.tone === 'event'
  return list.slots.length < 20 && list.slots.every((slot) => isEvent(list.getRow(slot)))
}

const nextDetail: Readonly<Record<Detail, Detail>> = { full: 'boundaries', boundaries: 'none', none: 'full' }

/** The page of a space: participants, stream, proposals, and the panels beside them. */
export function SpacePage({
  session,
  theme,
  setTheme,
  leave,
  linked,
  moment,
  redraw,
}: SpacePageProps): VNode {
  const { model } = session
  /** Key of the line that the keys are for. */
  const [current, setCurrent] = useState<string | undefined>()
  /** Id of the envelope in the inspector. */
  const [inspectedId, setInspectedId] = useState<string | undefined>()
  /** Id of the participant that is looked at. */
  const [shownParticipant, setShownParticipant] = useState<string | undefined>()
  const [isSearching, setSearching] = useState(() => readRoute(location.hash).query !== undefined)
  const [requestError, setRequestError] = useState<string | undefined>()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [keys, setKeys] = useStored('meup-keys', 'on')
  const shown = useRef<RowsHandle | undefined>(undefined)
  const [view, turn] = useView()
  const View = views[view].component
  const isLive = session.client !== undefined
  const envelope = inspectedId === undefined ? undefined : model.log.get(inspectedId)

  const act = useCallback((what: string, work: () => Promise<unknown>): void => {
    setRequestError(undefined)
    work().catch((error: unknown) => {
      // What a tool says is in the stream.
      if (!(error instanceof ToolError)) setRequestError(`${what}: ${formatError(error)}`)
    })
  }, [])
  const viewFilter = useViewFilter(session, act, redraw)
  useScrollPosition(session, shown)
  useCatchingUp(model, redraw)
  // Lines of the stream are drawn again only when this is another one.
  const space = useMemo<SpaceActions>(
    () => ({
      session,
      isLive,
      can: (draft) => session.can(draft),
      select: setCurrent,
      inspect(id) {
        setShownParticipant(undefined)
        setInspectedId(id)
        updateAddress({ seq: session.model.log.get(id)?.seq })
        session.model.unfold(id)
        const key = shown.current?.reveal(id)
        if (key !== undefined) setCurrent(key)
      },
      cycle(context) {
        session.model.cycle(context)
        redraw()
      },
      open(context) {
        session.model.choose(context, 'all')
        redraw()
      },
      showParticipant: setShownParticipant,
      viewFilter,
      act,
    }),
    [session, isLive, session.rights],
  )
  const leaveEnvelope = (): void => {
    setInspectedId(undefined)
    updateAddress({ seq: undefined })
  }
  const goTo = (index: number): void => {
    const slot = shown.current?.list.slots[index]
    if (slot === undefined) return
    setCurrent(slot.key)
    if (inspectedId !== undefined) setInspectedId(slot.envelope.id)
    shown.current?.focus(index)
  }
  const toPending = (): void => {
    const [first] = model.pending(Date.now())
    const key = first && shown.current?.reveal(first.id)
    if (key !== undefined) setCurrent(key)
  }
  const seqAt = (key: string | undefined): number | undefined =>
    shown.current?.list.slots.find((slot) => slot.key === key)?.envelope.seq
  const show = (detail: Detail): void =>
    space.act('What is shown could not be changed', () => session.setDetail(detail))

  const found = linked === undefined ? undefined : model.log.at(linked)?.id
  const isAbsent = linked !== undefined && found === undefined && model.log.covers(linked)
  useEffect(() => {
    if (found !== undefined) space.inspect(found)
    if (isAbsent) setRequestError(`#${linked} is not for you, or was cut by you`)
  }, [linked, found, isAbsent])

  const keymap = useRef<() => Keymap>(() => ({}))
  keymap.current = () => {
    const list = shown.current?.list ?? model.lists.stream
    const { slots } = list
    const at = slots.findIndex(({ key }) => key === current)
    const actions = {
      ...{ model, list, view, at, goTo, toPending, redraw },
      inspect: () => {
        const id = slots[at]?.envelope.id
        if (id !== undefined) space.inspect(id)
      },
      toEnd: () => {
        session.time.toPresent()
        shown.current?.toEnd()
      },
      playOrStop: () => session.time.togglePlay(),
      turn,
      turnThoughts: () => show(nextDetail[session.detail]),
      search: () => setSearching(true),
      toFilters,
      help: () => setHelpOpen(true),
    }
    const close = (): void =>
      shownParticipant === undefined ? leaveEnvelope() : setShownParticipant(undefined)
    return { Escape: close, ...(keys === 'on' && createKeymap(actions)) }
  }
  useEffect(() => listenToKeys(() => keymap.current()), [])

  return (
    <SpaceProvider value={space}>
      <div
        class={`page ${envelope === undefined && shownParticipant === undefined ? '' : 'inspecting'} ${isLive ? '' : 'offline'}`}
      >
        <Header {...{ session, theme, setTheme, show, leave }} help={() => setHelpOpen(true)} />
        <div class="side">
          <People shownParticipant={shownParticipant} />
          <Filters />
          <HiddenList />
        </div>
        <main>
          <ViewTabs view={view} turn={turn} />
          <div class="view" role="tabpanel" id={panelId} aria-labelledby={tabId(view)}>
            {isFiltering(model.viewFilter.filter) && model.lists.stream.slots.length === 0 ? (
              <NothingPasses widen={viewFilter.widen} />
            ) : isQuiet(model.lists.stream) &&
              !isFiltering(model.viewFilter.filter) &&
              !session.time.isPast ? (
              <Empty session={session} />
            ) : (
              <View
                current={current}
                handle={(handle) => {
                  shown.current = handle
                }}
              />
            )}
          </div>
          {isSearching && (
            <SearchBar
              seq={seqAt(current)}
              show={(id) => {
                model.unfold(id)
                const key = shown.current?.reveal(id, false)
                if (key !== undefined) setCurrent(key)
              }}
              close={() => {
                setSearching(false)
                viewFilter.find('')
              }}
            />
          )}
          <footer>
            <StatusLine {...{ session, requestError, leave, redraw }} toPending={toPending} />
            <Scrubber linked={moment} />
            <MessageBox />
          </footer>
        </main>
        {shownParticipant !== undefined && (
          <PersonPanel
            key={shownParticipant}
            id={shownParticipant}
            close={() => setShownParticipant(undefined)}
          />
        )}
        {shownParticipant === undefined && envelope !== undefined && (
          <Inspector envelope={envelope} close={leaveEnvelope} />
        )}
        {isHelpOpen && (
          <Help
            hasKeys={keys === 'on'}
            setKeys={(hasKeys) => setKeys(hasKeys ? 'on' : 'off')}
            close={() => setHelpOpen(false)}
          />
        )}
        <Announcements model={model} />
      </div>
    </SpaceProvider>
  )
}

/** Puts the focus on the first filter. */
const toFilters = (): void => document.querySelector<HTMLElement>('.filters button')?.focus()

/** What there is to do where there is nothing to see. */
function Empty({ session }: { session: Session }): VNode {
  const { stage, place } = session
  if (stage.at === 'connecting') {
    return (
      <p class="empty dim" role="status">
        Connecting to {place.space}…
      </p>
    )
  }
  if (stage.at === 'ended') {
    return (
      <div class="empty">
        <h2>The space cannot be reached</h2>
        <p>
          Look whether the gateway runs, and whether this machine reaches it. What you have written is kept.
        </p>
        <button type="button" class="primary" onClick={() => void session.reconnect()}>
          Try again
        </button>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>Nothing has happened here yet</h2>
      <p>Say something below, or join from a terminal, in the folder of the space:</p>
      <pre>meup join</pre>
      <p>From another machine, with a token of your own:</p>
      <pre>
        MEUP_TOKEN=… meup join --url {place.url} --space {place.space}
      </pre>
      <p class="dim">Whatever is said, thought and done in {place.space} shows here as it happens.</p>
    </div>
  )
}

/** Where a reader's own filter lets nothing through. */
const NothingPasses = ({ widen }: { widen: () => void }): VNode => (
  <div class="empty">
    <h2>Nothing of it matches your filter</h2>
    <p>What comes and matches shows here.</p>
    <button type="button" class="primary" onClick={widen}>
      Show everything
    </button>
  </div>
)
