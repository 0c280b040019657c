/** A log as the threads that project it know it. */
export interface ProjectedLog {
  /** By which the file knows the space. */
  readonly space: number
  readonly name: string
  readonly epoch: string
}
