export { bytesText } from '@gateway/client/measures';
