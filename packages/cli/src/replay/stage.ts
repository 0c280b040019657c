import type { AnyEnvelope } from '@meup/protocol'
import { printer, tell } from '../output.js'
import { styleOfStdout } from '../render/style.js'
import { Activity } from '../view/activity.js'
import { AgentLines } from '../view/agent-lines.js'
import { isAtTerminal } from '../view/at-terminal.js'
import { dimming, highlighting } from '../view/colours.js'
import { liveSurface } from '../view/live.js'
import { Screen } from '../view/screen.js'
import type { Surface } from '../view/surface.js'

/** Where a recording is played. */
export interface Stage {
  show(envelope: AnyEnvelope): void
  /** Says something beside it. */
  tell(line: string): void
  close(): void
}

/** As `meup watch` shows a space: at a terminal, Ctrl+T hides thoughts and shows them again. */
export const openStage = (json: boolean | undefined): Stage =>
  json || !isAtTerminal() ? { show: printer(json), tell, close: () => {} } : liveStage()

function liveStage(): Stage {
  const style = styleOfStdout()
  const activity = new Activity()
  let showsThoughts = true
  const lines = new AgentLines({
    style,
    highlight: highlighting(style),
    columns: () => surface.columns,
    contexts: () => activity.contexts,
  })
  const screen = new Screen(
    (shown) => surface.print(shown),
    () => showsThoughts,
    lines,
  )
  const surface: Surface = liveSurface({
    parts: () => ({
      heading: 'replay',
      thinkers: activity.thinkers(),
      tools: activity.tools(),
      showsThoughts,
      pending: undefined,
    }),
    dim: dimming(style),
    echoes: false,
    completer: undefined,
    keys: { 'ctrl+t': toggle },
  })
  return {
    show: (envelope) => {
      activity.take(envelope)
      screen.show(envelope)
      surface.refresh()
    },
    tell: (line) => surface.say(line),
    close: () => surface.close(),
  }

  function toggle(): void {
    showsThoughts = !showsThoughts
    surface.say(showsThoughts ? 'thinking visible' : 'thinking hidden')
    if (showsThoughts) screen.catchUp([], true)
    else screen.hide()
  }
}
