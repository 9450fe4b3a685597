import type { Bank } from '../domain/banks/bank.ts'
import type { Cause, Debit } from '../domain/debits/debit.ts'
import { isUnprompted, refusePrompt } from '../domain/debits/prompts.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { environment, type Runtime } from '../runtime.ts'
import { hasTooManyPrompts } from '../store/debits/prompts.ts'
import { transition } from '../store/debits/transitions.ts'

const idsOf = ({ facts: { reference, provider, bank } }: Debit) => ({
  reference,
  provider,
  bank: bank.identifier,
})

/**
 * Reports whether the customer of a debit may get an approval prompt (docs/api.md#approval-prompts).
 * An unreadable index refuses none.
 */
export const mayPrompt = async (
  debit: Debit,
  { openPromptsMax = environment.defaultPromptsMax }: Bank,
  runtime: Pick<Runtime, 'pause' | 'now'>,
): Promise<boolean> => {
  if (openPromptsMax === undefined) return true
  try {
    return !(await hasTooManyPrompts(debit, openPromptsMax, runtime))
  } catch (error) {
    const fields = { ...idsOf(debit), error: error as Error }
    log.warn('prompts are not counted', fields, { PromptsUnchecked: 1 })
    return true
  }
}

/** Fails a debit whose customer has had too many approval prompts. */
export const refuseTooManyPrompts = async (
  debit: Debit,
  cause: Omit<Cause, 'by'>,
  runtime: Runtime,
): Promise<void> => {
  const result = await transition(debit, (current) => refusePrompt(current, cause), runtime)
  if (result instanceof Refusal || !isUnprompted(result)) return
  const { provider } = debit.facts
  const remedy =
    `run operator debit list --provider ${provider} --status failed; then ask the provider, revoke its ` +
    `key (operator credential list --provider ${provider}) or run operator provider disable --provider ${provider}`
  log.warn('too many prompts', { ...idsOf(debit), remedy }, { PromptsRefused: 1 })
}
