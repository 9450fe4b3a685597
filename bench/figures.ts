import { type Spread, spreadOf } from './samples.ts'

/** What a row of the table is told of its measurement. */
export type Figure = {
  own: number
  base?: number
  /** Own over base, round by round. */
  ratio?: Spread
}

/** Ours beside a base of the same rounds. */
export const beside = <T>(own: readonly T[], base: readonly T[], figure: (one: T) => number) => {
  const [ours, theirs] = [own.map(figure), base.map(figure)]
  return {
    own: spreadOf(ours).median,
    base: spreadOf(theirs).median,
    ratio: spreadOf(ours.map((one, round) => one / (theirs[round] ?? Number.NaN))),
  } satisfies Figure
}

/** What has no more than one run of each. */
export const ratioOf = (own: number, base: number) => {
  const ratio = own / base
  return { own, base, ratio: { median: ratio, least: ratio, most: ratio } } satisfies Figure
}
