import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wireFiles, wireTypes } from '../../sdk/openapi/wire-types.ts'
import { finalDebitStatuses } from '../../sdk/typescript/src/wire.ts'

test.each(Object.entries(wireFiles))('the types of %s follow from %s', async (file, from) => {
  expect(readFileSync(file, 'utf8')).toBe(await wireTypes(from))
})

test('both clients wait for the final statuses that the description publishes', () => {
  const { components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
  const { enum: all, 'x-final': final } = components.schemas.DebitStatus
  expect(all).toEqual(['pending', 'processing', ...final])
  expect(finalDebitStatuses).toEqual(final)
  const inPython = final.map((status: string) => `"${status}"`).join(', ')
  expect(readFileSync('sdk/python/src/debit_collection/wire.py', 'utf8')).toContain(
    `\nFINAL_DEBIT_STATUSES: tuple[DebitStatus, ...] = (${inPython})\n`,
  )
})
