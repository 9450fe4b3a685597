import { Refusal } from '../../shared/domain/refusal.ts'

/** Returns the code, as `422/1007`, and the details of a refusal. @throws for any other value */
export const refused = (result: unknown): { code: string; details: unknown } => {
  if (!(result instanceof Refusal)) throw new Error(`Not refused: ${JSON.stringify(result)}`)
  return { code: `${result.http}/${result.error.code}`, details: result.details }
}

/** Returns a value. @throws for a refusal */
export const granted = <T>(result: T | Refusal): T => {
  if (result instanceof Refusal) throw new Error(`Refused: ${JSON.stringify(result)}`)
  return result
}
