import { ToolError } from '@meup/agent-sdk/watch'
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Detail, reasonOf, type Session } from '../connect/session.js'
import type { Row } from '../model/index.js'
import { Announcements } from './announcements.js'
import { type Desk, DeskProvider } from './desk.js'
import { Empty } from './empty.js'
import { Header } from './header.js'
import { Help } from './help.js'
import { useKept } from './hooks.js'
import { Inspector } from './inspector.js'
import { indexOfPending, keymapOf } from './keymap.js'
import { type Keymap, listenToKeys } from './keys.js'
import { MessageBox } from './message-box.js'
import { People } from './people.js'
import { StatusLine } from './status-line.js'
import { Stream, type StreamHandle } from './stream.js'

export interface SpacePageProps {
  readonly session: Session
  readonly theme: string
  readonly setTheme: (theme: string) => void
  readonly leave: () => void
  /** Seq of the envelope that the address names. */
  readonly linked: number | undefined
  readonly redraw: () => void
}

/** So few events, and nobody has said or thought anything. */
const isQuiet = (rows: readonly Row[]): boolean =>
  rows.length < 20 && rows.every((row) => row.type === 'said' && row.tone === 'event')

const nextDetail: Readonly<Record<Detail, Detail>> = { full: 'boundaries', boundaries: 'none', none: 'full' }

/** A space: who is in it, what happens, and what there is to decide. */
export function SpacePage({ session, theme, setTheme, leave, linked, redraw }: SpacePageProps): VNode {
  const { model } = session
  const { rows } = model
  /** Key of the line that the keys are for. */
  const [current, setCurrent] = useState<string | undefined>()
  /** Id of the envelope in the inspector. */
  const [looked, setLooked] = useState<string | undefined>()
  const [trouble, setTrouble] = useState<string | undefined>()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [keys, setKeys] = useKept('meup-keys', 'on')
  const stream = useRef<StreamHandle | undefined>(undefined)
  const isLive = session.desk !== undefined
  const envelope = looked === undefined ? undefined : model.log.get(looked)

  // Lines of the stream are drawn again only when this is another one.
  const desk = useMemo<Desk>(
    () => ({
      session,
      isLive,
      can: (draft) => session.can(draft),
      look(id) {
        setLooked(id)
        const index = session.model.rows.findIndex((row) => row.envelope.id === id)
        if (index === -1) return
        setCurrent(session.model.rows[index]?.key)
        stream.current?.focus(index)
      },
      cycle(context) {
        session.model.cycle(context)
        redraw()
      },
      open(context) {
        session.model.choose(context, 'all')
        redraw()
      },
      act(what, work) {
        setTrouble(undefined)
        work().catch((error: unknown) => {
          // What a tool says is in the stream.
          if (!(error instanceof ToolError)) setTrouble(`${what}: ${reasonOf(error)}`)
        })
      },
    }),
    [session, isLive, session.rights],
  )
  const goTo = (index: number): void => {
    const row = rows[index]
    if (row === undefined) return
    setCurrent(row.key)
    if (looked !== undefined) setLooked(row.envelope.id)
    stream.current?.focus(index)
  }
  const show = (detail: Detail): void =>
    desk.act('What is shown could not be changed', () => session.show(detail))

  const isLinkLoaded = linked !== undefined && model.log.last >= linked
  useEffect(() => {
    const found = isLinkLoaded ? model.log.at(linked) : undefined
    if (found !== undefined) desk.look(found.id)
  }, [linked, isLinkLoaded])

  const keymap = useRef<() => Keymap>(() => ({}))
  keymap.current = () => {
    const at = rows.findIndex(({ key }) => key === current)
    const actions = {
      ...{ space: session.place.space, model, at, goTo, redraw },
      inspect: () => setLooked(rows[at]?.envelope.id),
      toEnd: () => stream.current?.toEnd(),
      turnThoughts: () => show(nextDetail[session.detail]),
      help: () => setHelpOpen(true),
    }
    return { Escape: () => setLooked(undefined), ...(keys === 'on' && keymapOf(actions)) }
  }
  useEffect(() => listenToKeys(() => keymap.current()), [])

  return (
    <DeskProvider value={desk}>
      <div class={`page ${envelope === undefined ? '' : 'inspecting'} ${isLive ? '' : 'offline'}`}>
        <Header {...{ session, theme, setTheme, show, leave }} help={() => setHelpOpen(true)} />
        <People
          people={model.people}
          me={session.welcome?.you.id}
          mute={(id, isMuted) => {
            model.mute(id, isMuted)
            redraw()
          }}
        />
        <main>
          {isQuiet(rows) ? (
            <Empty session={session} />
          ) : (
            <Stream
              current={current}
              handle={(handle) => {
                stream.current = handle
              }}
            />
          )}
          <footer>
            <StatusLine
              {...{ session, trouble, leave, redraw }}
              toPending={() => goTo(indexOfPending(model))}
            />
            <MessageBox />
          </footer>
        </main>
        {envelope !== undefined && <Inspector envelope={envelope} close={() => setLooked(undefined)} />}
        {isHelpOpen && (
          <Help
            hasKeys={keys === 'on'}
            setKeys={(hasKeys) => setKeys(hasKeys ? 'on' : 'off')}
            close={() => setHelpOpen(false)}
          />
        )}
        <Announcements model={model} />
      </div>
    </DeskProvider>
  )
}
