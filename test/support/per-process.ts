/**
 * Returns what a process made first under a name, for values that are costly and that no test changes:
 * each file has its own instance of the modules.
 */
export const perProcess = <T>(name: string, make: () => T): T => {
  const made = globalThis as { [name: symbol]: T }
  const key = Symbol.for(name)
  made[key] ??= make()
  return made[key]
}
