import type { Config, Program } from '../config/config.js'

/** A configured participant that is run as a program. */
interface ConfiguredProgram {
  readonly space: string
  readonly participant: string
  /** `participant`, or `space/participant` if there are several spaces. */
  readonly label: string
  readonly program: Program
}

export const listPrograms = ({ spaces, several }: Config): ConfiguredProgram[] =>
  spaces.flatMap(({ config: { name: space }, programs }) =>
    Object.entries(programs).map(([participant, program]) => {
      const label = several ? `${space}/${participant}` : participant
      return { space, participant, label, program }
    }),
  )

/** Whether `name` is this program's `participant` or `space/participant`. */
export const isProgramNamed = (
  name: string,
  { space, participant }: { readonly space: string; readonly participant: string },
): boolean => name === participant || name === `${space}/${participant}`
