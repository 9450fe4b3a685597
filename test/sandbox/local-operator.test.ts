import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { localOperator } from '../../sandbox/local-operator.ts'
import { StartFailure } from '../../sandbox/start-failure.ts'

/** The name of an operator whom nobody verifies. */

const useUser = (userInfo: () => string) => {
  vi.stubEnv('OPERATOR_NAME', undefined)
  vi.spyOn(os, 'userInfo').mockImplementation(() => ({ username: userInfo() }) as never)
  syncBuiltinESMExports()
}
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test('the operator is the local user, whom OPERATOR_NAME or a name of the console replaces', () => {
  useUser(() => 'esi')
  expect(localOperator()).toBe('local:esi')
  vi.stubEnv('OPERATOR_NAME', 'ama')
  expect([localOperator(), localOperator('kofi')]).toEqual(['local:ama', 'local:kofi'])
})

test.each(['Ama Mensah', 'DOMAIN\\ama', 'äma', 'a'.repeat(295)])(
  'the name "%s" is refused in one line',
  (name) => {
    vi.stubEnv('OPERATOR_NAME', name)
    expect(() => localOperator()).toThrow(StartFailure)
    expect(() => localOperator()).toThrow(/^the name of an operator .*$/)
  },
)

test.each<[string, () => string]>([
  ['without a name', () => expect.fail('ENOENT')],
  ['with a name that no record can have', () => 'äma'],
])('a user %s, as in a container, has the user id', (_, name) => {
  useUser(name)
  expect(localOperator()).toBe(`local:uid-${process.getuid?.()}`)
})
