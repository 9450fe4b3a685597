/** Returns a function that writes one member of a JSON document of type `T`. */
export const memberOf =
  <T extends object>() =>
  <K extends keyof T & string>(name: K, value: T[K]): string =>
    `"${name}": ${JSON.stringify(value)}`
