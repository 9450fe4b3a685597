import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wireFiles, wireTypes } from '../../sdk/openapi/wire-types.ts'

test.each(Object.entries(wireFiles))(
  'the file %s has the types that follow from %s',
  async (file, from) => {
    expect(readFileSync(file, 'utf8')).toBe(await wireTypes(from))
  },
)
