const ZERO = 0x30;

/**
 * The number that a text of decimal digits stands for; exact up to 15 of them. For a part of a longer text,
 * as the values of fields are, `Number` leaves compiled code.
 */
export function decimal(digits: string): number {
  let number = 0;
  for (let index = 0; index < digits.length; index += 1) {
    number = number * 10 + digits.charCodeAt(index) - ZERO;
  }
  return number;
}
