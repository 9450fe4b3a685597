import { isCaught, type MutantResult } from './run-mutants.ts'

/** The printed table of mutants. */

const WIDTHS = [42, 12, 34, 18, 8]

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
    .join('  ')
    .trimEnd()

export const heading = row(['mutant', 'area', 'caught by', 'after', 'seconds'])

const caughtBy = ({ end, mutant }: MutantResult): string => {
  switch (end.kind) {
    case 'clean':
      return 'nothing'
    case 'hung':
      return 'nothing: it hangs'
    case 'crashed':
      return `crash: ${end.message.slice(0, 60)}`
    case 'caught': {
      const { invariants, neverIdle } = end
      const names = [...invariants.map(String), ...(neverIdle ? ['never idle'] : [])].join(', ')
      const isExpected = invariants.some((number) => mutant.invariants.includes(number))
      return isExpected ? names : `${names} (expected: ${mutant.invariants.join(', ')})`
    }
  }
}

export const lineOf = (result: MutantResult): string => {
  const { mutant, lifecycles, seed, seconds } = result
  const after = `${lifecycles}, seed ${seed}`
  return row([mutant.name, mutant.area, caughtBy(result), after, seconds.toFixed(0)])
}

export const percentCaught = (results: readonly MutantResult[]): number =>
  results.length === 0 ? 0 : (results.filter(isCaught).length / results.length) * 100

export const summaryOf = (results: readonly MutantResult[]): string[] => {
  const survivors = results.filter((result) => !isCaught(result))
  const caught = results.length - survivors.length
  return [
    '',
    `${caught} of ${results.length} caught (${percentCaught(results).toFixed(0)} %)`,
    ...survivors.map(({ mutant: { name, needs } }) => `not caught: ${name}: needs ${needs}`),
  ]
}
