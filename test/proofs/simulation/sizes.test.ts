import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  addSize,
  constantsIn,
  ranges,
  setSizes,
  withSizes,
} from '../../../proofs/simulation/engine/sizes.ts'
import { kinds } from '../../../proofs/simulation/scenario/kinds.ts'

const constants = globSync('{shared,functions}/**/*.ts').flatMap((file) =>
  constantsIn(readFileSync(file, 'utf8')).map((name) => `${file.replace('.ts', '')} ${name}`),
)

test('each number at the top of a file is a size with a range, or keeps its value', () => {
  expect(constants.length).toBeGreaterThan(100)
  const matches = constants.map((name) => ranges.find(([pattern]) => pattern.test(name)))
  expect(constants.filter((_, index) => !matches[index])).toEqual([])
  expect(ranges.filter((row) => !matches.includes(row))).toEqual([])
})

test('a run has small sizes, the same for equal seeds, and the next run the usual ones', () => {
  let size = 100
  addSize('shared/settlement/build PAGE_SIZE', 100, (value) => {
    size = value
  })
  const small = [1, 2, 3, 1, undefined].map((seed) => {
    setSizes(seed)
    return size
  })
  expect(small[3]).toBe(small[0])
  expect(Math.max(...small.slice(0, 4))).toBeLessThan(7)
  expect(small[4]).toBe(100)
})

test('only constants that are sizes become variables, on their lines', () => {
  const source = 'const CHARGED = 4\nexport const PAGE_SIZE = 1_000\nconst PAGE_DAYS = 7'
  const [first, second, third, ...added] = withSizes('shared/store/lists', source).split('\n')
  expect([first, second, third]).toEqual([
    'const CHARGED = 4',
    'export let PAGE_SIZE = 1_000',
    'const PAGE_DAYS = 7',
  ])
  expect(added.join()).toContain("addSize('shared/store/lists PAGE_SIZE', PAGE_SIZE, ")
})

test('a tenth of the runs has small sizes', () => {
  const total = Object.values(kinds).reduce((sum, { weight }) => sum + weight, 0)
  expect(kinds['small sizes'].weight / total).toBeGreaterThanOrEqual(0.1)
})
