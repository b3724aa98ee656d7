/** What the key beside the space bar is called on this machine. */
export const MODIFIER = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl';
