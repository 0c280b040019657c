import { useEffect, useState } from 'preact/hooks'

type Commands = typeof import('./commands.js')

let loading: Promise<Commands> | undefined

/** Commands of the message box, imported when first needed. */
export function loadCommands(): Promise<Commands> {
  loading ??= import('./commands.js').catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** The commands; empty until they are imported. */
export function useCommands(isNeeded: boolean): Commands['commands'] {
  const [commands, setCommands] = useState<Commands['commands']>([])
  useEffect(() => {
    if (isNeeded && commands.length === 0)
      loadCommands().then(
        (loaded) => setCommands(loaded.commands),
        (error: unknown) => console.info('the commands are not known:', error),
      )
  }, [isNeeded, commands])
  return commands
}
