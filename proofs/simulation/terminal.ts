import type { Violation } from './engine/observations.ts'

/** The input and output of the simulator's commands. Loads no product code. */

export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`)
}

export const violationLine = ({ invariant, about, message }: Violation): string =>
  `invariant ${invariant}: ${about} ${message}`

export const printVerdict = (isClean: boolean): void => {
  print(isClean ? 'No invariant was violated.' : 'Invariants were violated.')
}
