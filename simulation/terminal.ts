import type { Violation } from './engine/observations.ts'

/** What the commands of the simulator read and print alike. Nothing of the product is loaded by it. */

export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`)
}

export const violationLine = ({ invariant, about, says }: Violation): string =>
  `invariant ${invariant}: ${about} ${says}`

export const printVerdict = (isRight: boolean): void => {
  print(isRight ? 'Nothing was lost, doubled or shown to others.' : 'Something is wrong.')
}

/** @returns what an option says, if it is a whole number above 0; else the command ends with 2 */
export const wholeNumber = (option: string, text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  process.stderr.write(`--${option} must be a whole number above 0\n`)
  process.exit(2)
}
