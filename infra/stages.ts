/** The environments that can be deployed, and in what they differ. */
export type Stage = {
  /** Names the stacks and the functions, and decides which published limits hold. */
  name: string
  /** Starts every reference. */
  referencePrefix: string
  /** Whether the table may be deleted by hand. */
  deletionProtection: boolean
}

const stages: Record<string, Omit<Stage, 'name'>> = {
  sandbox: { referencePrefix: 'DCS', deletionProtection: false },
  production: { referencePrefix: 'DCP', deletionProtection: true },
}

/** @throws Error in one line for a stage that does not exist */
export const stageNamed = (name: unknown): Stage => {
  const found = typeof name === 'string' && Object.hasOwn(stages, name) ? stages[name] : undefined
  if (!found || typeof name !== 'string') {
    throw new Error(`Name a stage: -c stage=${Object.keys(stages).join('|')}`)
  }
  return { name, ...found }
}
