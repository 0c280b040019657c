import type { SearchHit } from '@meup/agent-sdk/http'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { isSeeking, nothingSought, type Sought } from '../../connect/finder.js'
import { momentText, nameText, sortNames, sorts, whenText } from '../../model/index.js'
import { Alert, Name } from '../shared/parts.js'
import { StepsHeader } from '../shared/steps.js'
import { useSpace } from '../shared/use-space.js'
import '../../style/find.css'

/** Hits in the whole log, newest first, with controls to narrow the search. */
export function FindPanel({ close }: { close: () => void }): VNode {
  const { session, reveal } = useSpace()
  const { finder } = session
  const { hits, sought, isSearching, isWhole, problem } = finder
  const [chosen, choose] = useState<string | undefined>()
  const at = hits.findIndex(({ id }) => id === chosen)
  const go = (index: number): void => {
    const hit = hits[index]
    if (hit === undefined) return
    choose(hit.id)
    reveal(hit)
  }
  return (
    <aside class="inspector find" aria-label="Search">
      <StepsHeader title="Search" what="hit" {...{ at, go, close }} count={hits.length} />
      <Narrow sought={sought} />
      {problem !== undefined && <Alert>{problem}</Alert>}
      <Hits {...{ hits, at, go }} />
      <p class="dim" role="status">
        {isSearching
          ? 'Searching…'
          : !isSeeking(sought)
            ? 'Type words that are all said, in any order.'
            : hits.length === 0 && isWhole
              ? 'Nothing was found.'
              : ''}
      </p>
      {!isSearching && !isWhole && (
        <button type="button" onClick={() => finder.goOn()}>
          {problem !== undefined
            ? 'Try again'
            : `${finder.searchedTo === null ? 'Nothing so far' : `Searched back to ${momentText(finder.searchedTo)}`} · go on`}
        </button>
      )}
    </aside>
  )
}

const outcomes = ['success', 'error', 'rejected'] as const
const spans = [
  [60, 'the last hour'],
  [1440, 'the last day'],
  [10_080, 'the last week'],
] as const

/** Narrows a search by sender, kind, tool, outcome and time. */
function Narrow({ sought }: { sought: Sought }): VNode {
  const { session } = useSpace()
  const { finder, model } = session
  const narrow = (part: Partial<Sought>): void => finder.find({ ...sought, ...part })
  const [tool, setTool] = useState(sought.tool ?? '')
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault()
        narrow({ tool: tool.trim() || undefined })
      }}
    >
      <Choice label="From" value={sought.from} all="everyone" set={(from) => narrow({ from })}>
        {model.people.slice(0, 200).map(({ id }) => [id, id])}
      </Choice>
      <Choice
        label="What"
        value={sought.sort}
        all="everything"
        set={(sort) => narrow({ sort: sorts.find((each) => each === sort) })}
      >
        {sorts.map((sort) => [sort, sortNames[sort]])}
      </Choice>
      <Choice
        label="Outcome"
        value={sought.outcome}
        all="any"
        set={(outcome) => narrow({ outcome: outcomes.find((each) => each === outcome) })}
      >
        {outcomes.map((outcome) => [outcome, outcome])}
      </Choice>
      <Choice
        label="When"
        value={sought.minutes?.toString()}
        all="ever"
        set={(minutes) => narrow({ minutes: minutes === undefined ? undefined : Number(minutes) })}
      >
        {spans.map(([minutes, text]) => [`${minutes}`, text])}
      </Choice>
      <label>
        Tool
        <input
          name="tool"
          value={tool}
          placeholder="any"
          maxLength={128}
          spellcheck={false}
          onInput={(event) => setTool(event.currentTarget.value)}
          onBlur={() =>
            (tool.trim() || undefined) !== sought.tool && narrow({ tool: tool.trim() || undefined })
          }
        />
      </label>
      {isSeeking({ ...sought, text: '' }) && (
        <button
          type="button"
          class="link"
          onClick={() => {
            setTool('')
            finder.find({ ...nothingSought, text: sought.text })
          }}
        >
          everywhere
        </button>
      )}
    </form>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string | undefined
  /** Label of the empty choice. */
  readonly all: string
  readonly set: (value: string | undefined) => void
  readonly children: readonly (readonly [value: string, text: string])[]
}

const Choice = ({ label, value = '', all, set, children }: ChoiceProps): VNode => (
  <label>
    {label}
    <select value={value} onChange={(event) => set(event.currentTarget.value || undefined)}>
      <option value="">{all}</option>
      {children.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

interface HitsProps {
  readonly hits: readonly SearchHit[]
  readonly at: number
  readonly go: (index: number) => void
}

function Hits({ hits, at, go }: HitsProps): VNode {
  return (
    <ol
      class="hits"
      onKeyDown={(event) => {
        const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
        if (by === 0) return
        event.preventDefault()
        event.stopPropagation()
        const all = [...event.currentTarget.querySelectorAll('button')]
        const at = all.indexOf(document.activeElement as HTMLButtonElement)
        all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus()
      }}
    >
      {hits.map((hit, index) => (
        <li key={hit.id} aria-current={index === at}>
          <button type="button" onClick={() => go(index)}>
            <span class="hit-about">
              <Name id={hit.from} /> <span class="dim">{nameText(hit.tool ?? hit.kind)}</span>{' '}
              <time class="dim" dateTime={hit.ts} title={momentText(hit.ts)}>
                {whenText(hit.ts)} #{hit.seq}
              </time>
            </span>
            <span class="said">
              <Marked text={hit.snippet} ranges={hit.ranges} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}

function Marked({ text, ranges }: { text: string; ranges: SearchHit['ranges'] }): VNode {
  const starts = [0, ...ranges.map(([, end]) => end)]
  return (
    <>
      {starts.map((start, index) => {
        const [from = text.length, to = text.length] = ranges[index] ?? []
        return [text.slice(start, from), from < to && <mark key={from}>{text.slice(from, to)}</mark>]
      })}
    </>
  )
}
