import type { BankBehaviour } from '../../shared/domain/banks/bank-behaviour.ts'
import type { OptionsOf } from '../../shared/operator/results.ts'
import { type Play, thenRestore } from './play.ts'

const optionsOf = (
  behaviour: BankBehaviour | null,
  now: Date,
): Omit<OptionsOf<'bank', 'behave'>, 'bank'> => {
  if (!behaviour) return { as: 'normal' }
  const { as, code, until } = behaviour
  const seconds = until === null ? 0 : Math.ceil((Date.parse(until) - now.getTime()) / 1000)
  if (until !== null && seconds <= 0) return { as: 'normal' }
  return { as, ...(code && { code }), ...(until !== null && { for: `${seconds}s` }) }
}

/** Does something while a bank behaves so, and restores its behaviour. */
export const whileBankBehaves = async <T>(
  { operate, control, misfit }: Play,
  bank: string,
  as: BankBehaviour['as'],
  action: () => Promise<T>,
): Promise<T> => {
  const { behaviour, connector } = await operate('bank', 'show', { bank })
  if (connector !== 'sandbox') misfit(`needs ${bank}, which must have connector sandbox`)
  await operate('bank', 'behave', { bank, as })
  return thenRestore(action, () =>
    operate('bank', 'behave', { bank, ...optionsOf(behaviour, control.clock.now()) }),
  )
}
