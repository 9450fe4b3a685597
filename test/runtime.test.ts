import { beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => vi.resetModules())

test.each([
  ['once', 'charge', ['first', 'first']],
  ['each time', undefined, ['first', 'second']],
])('a setting is read %s in the function %s', async (_, name, expected) => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', name)
  const { environment } = await import('../shared/runtime.ts')
  const read = (table: string) => {
    vi.stubEnv('TABLE_NAME', table)
    return environment.tableName
  }
  expect([read('first'), read('second')]).toEqual(expected)
})

test('a missing setting is an error each time it is read', async () => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'charge')
  vi.stubEnv('TABLE_NAME', undefined)
  const { environment } = await import('../shared/runtime.ts')
  for (let n = 0; n < 2; n += 1) expect(() => environment.tableName).toThrow('TABLE_NAME')
})
