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

/** Returns the whole number above 0 of an option, or exits with 2. */
export const wholeNumber = (option: string, text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  return exitWith(`--${option} must be a whole number above 0`)
}

export const exitWith = (message: string): never => {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
