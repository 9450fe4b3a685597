import { type Hunted, isCaught } from './run-mutants.ts'

/** What became of the faults, as lines to be read. */

const WIDTHS = [42, 12, 34, 18, 8]

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, n) => cell.padEnd(WIDTHS[n] ?? 0))
    .join('  ')
    .trimEnd()

export const heading = row(['fault', 'area', 'caught by', 'after', 'seconds'])

const caughtBy = ({ end, fault }: Hunted): string => {
  switch (end.kind) {
    case 'clean':
      return 'nothing'
    case 'hung':
      return 'nothing: it hangs'
    case 'crashed':
      return `crash: ${end.says.slice(0, 60)}`
    case 'caught': {
      const { invariants, restless } = end
      const told = [...invariants.map(String), ...(restless ? ['no rest'] : [])].join(', ')
      const isExpected = invariants.some((one) => fault.invariants.includes(one))
      return isExpected ? told : `${told} (meant: ${fault.invariants.join(', ')})`
    }
  }
}

export const lineOf = (hunted: Hunted): string => {
  const { fault, lifecycles, seed, seconds } = hunted
  const after = `${lifecycles}, seed ${seed}`
  return row([fault.name, fault.area, caughtBy(hunted), after, seconds.toFixed(0)])
}

const PERCENT = 100

export const shareCaught = (all: readonly Hunted[]): number =>
  all.length === 0 ? 0 : (all.filter(isCaught).length / all.length) * PERCENT

export const closing = (all: readonly Hunted[]): string[] => {
  const survivors = all.filter((hunted) => !isCaught(hunted))
  const caught = all.length - survivors.length
  return [
    '',
    `${caught} of ${all.length} caught (${shareCaught(all).toFixed(0)} %)`,
    ...survivors.map(
      ({ fault: { name, needs, why } }) => `not caught: ${name}: ${why ?? `it takes ${needs}`}`,
    ),
  ]
}
