import { userInfo } from 'node:os'
import { ACTOR } from '../shared/domain/operator/approval.ts'
import { StartFailure } from './start-failure.ts'

const named = (name: string): string => {
  const operator = `local:${name}`
  if (ACTOR.test(operator)) return operator
  throw new StartFailure(
    'the name of an operator (OPERATOR_NAME) must have at most 294 letters A to Z, digits and _:/@.+=,-',
  )
}

/**
 * Returns the local user. OPERATOR_NAME replaces it, so that one person can act as two operators.
 * @throws StartFailure if that is no name
 */
export const localOperator = (name = process.env.OPERATOR_NAME): string => {
  if (name) return named(name)
  try {
    return named(userInfo().username)
  } catch {
    // In a container, the user may have no name.
    return `local:uid-${process.getuid?.()}`
  }
}
