/** The body of the requests: 80 bytes of JSON. */
export const REQUEST_BODY = JSON.stringify({
  order: 'ord_01hv8x3c9q2m5n7p',
  amount: 1299,
  currency: 'EUR',
  items: [1, 2, 34],
});
