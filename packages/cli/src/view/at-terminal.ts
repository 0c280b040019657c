import { readFileSync } from 'node:fs'

const { stdin, stdout, env } = process

/** Whether somebody sits in front of this command, and it may take each key as it is pressed. */
export const isAtTerminal = (): boolean =>
  stdin.isTTY === true && stdout.isTTY === true && env.TERM !== 'dumb' && isInForeground()

/** A command behind `&` would be stopped as soon as it touched the terminal. Where nobody can say, it is in front. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return true
  }
}
